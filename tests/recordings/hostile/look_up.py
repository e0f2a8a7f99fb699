# refused: ended with exit status 1(.|\n)*PermissionError: an experiment has no network
import socket

socket.getaddrinfo("example.invalid", 80)

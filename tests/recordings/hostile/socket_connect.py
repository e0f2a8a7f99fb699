# refused: used the network
import contextlib
import socket

with contextlib.suppress(OSError):
    socket.create_connection(("192.0.2.1", 80), timeout=1)

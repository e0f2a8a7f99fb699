from lib2 import deep2

try:
    from kettle.b import either
except ImportError:
    from kettle.c import either

def f():
    """</code></pre><script>alert(1)</script> {{ x }} <!-- -->"""
    return "\x1b[31m" + """
::error::not a command
"""

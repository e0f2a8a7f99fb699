def f():
    """Shows a fence.

    ```
    f()
    ```
    """


DOC = """
```
f()
```
"""

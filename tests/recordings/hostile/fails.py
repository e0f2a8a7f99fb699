# refused: ended with exit status 1(.|\n)*File "<script>/fails.py", line 2(.|\n)*AssertionError
assert 1 + 1 == 3

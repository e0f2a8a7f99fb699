# refused: two runs of docs/experiments/hash_order.py differ
for word in {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}:
    print(word)

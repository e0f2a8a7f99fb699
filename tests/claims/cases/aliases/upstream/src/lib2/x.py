deep2 = 1

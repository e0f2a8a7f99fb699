cups = 2

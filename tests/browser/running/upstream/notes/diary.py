RAIN = True

def imported():
    pass

class Kettle:
    def pour(self):
        pass

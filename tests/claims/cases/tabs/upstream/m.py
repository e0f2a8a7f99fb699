class C:
	def f(self):
		if self:
			return 1

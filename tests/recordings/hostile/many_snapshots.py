# refused: took more than 500 snapshots

from annotate.experiment import snapshot

for number in range(501):
    snapshot("again", number=number)

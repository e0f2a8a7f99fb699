# refused: showed a graph of more than 200 nodes

from annotate.experiment import graph

graph("endless", 0, parents=lambda number: [number + 1])

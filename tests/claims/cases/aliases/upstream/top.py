import pkg.pots
from pkg import Pot as Kettle

"""What moved between two trees: definitions, files and lines."""

from annotate.upstream.moves.comparison import Moves
from annotate.upstream.moves.facts import Facts
from annotate.upstream.moves.lines import Carried, carry
from annotate.upstream.moves.move import Change, Move, Site, TextChange
from annotate.upstream.moves.ranges import Ranges

__all__ = ["Carried", "Change", "Facts", "Move", "Moves", "Ranges", "Site", "TextChange", "carry"]

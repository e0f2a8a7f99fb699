from . import where as thing

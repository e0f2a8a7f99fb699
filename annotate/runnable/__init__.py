"""What a site offers to run: an archive of its experiments, and what the *Run* button needs.

The archive a reader downloads is the one the button runs: scripts, and the pinned files they use.
"""

from annotate.runnable.offer import FOLDER, PYODIDE, downloads, files
from annotate.runnable.runtime import Runtime, from_cdn, from_folder

__all__ = ["FOLDER", "PYODIDE", "Runtime", "downloads", "files", "from_cdn", "from_folder"]

"""Articles about source code whose every statement is checked against one pinned commit."""

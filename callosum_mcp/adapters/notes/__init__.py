"""The `notes` store type: a read-only full-text index over folders of Markdown and text.

Above: the store set. Below, by idea: `options` (what may be configured), `scan` and `ignore` (which files), `chunk` and
`frontmatter` (what is in one), `database` (the cache file), `index` (keeping it fresh), `query` (words to FTS5).
Importing this package loads neither SQLite nor pathspec; the first search does.
"""

from callosum_mcp.adapters.notes.adapter import NotesAdapter

__all__ = ["NotesAdapter"]

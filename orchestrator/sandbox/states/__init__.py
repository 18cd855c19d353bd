"""States with a name: taken of running sites, kept as files, gone back to with a proof."""

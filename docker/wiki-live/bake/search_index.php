<?php
// Makes the full-text table anew with the Porter stemmer: "kettles" finds "kettle", as on Wikipedia.
$wiki = new SQLite3( '/srv/wiki/data/wiki.sqlite' );
$wiki->enableExceptions( true );
$wiki->exec( 'DROP TABLE searchindex' );
$wiki->exec( 'CREATE VIRTUAL TABLE searchindex USING fts4(si_title, si_text, tokenize=porter)' );

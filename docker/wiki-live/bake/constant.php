<?php
// Replaces what the clock or chance put into the database; two builds hold the same content.
const NOW = '20260101000000';
$wiki = new SQLite3( '/srv/wiki/data/wiki.sqlite' );
$wiki->enableExceptions( true );
foreach ( [
	'UPDATE page SET page_touched = "' . NOW . '", page_links_updated = "' . NOW . '"',
	'UPDATE page SET page_random = page_id * 0.6180339887 - CAST(page_id * 0.6180339887 AS INTEGER)',
	'UPDATE user SET user_registration = "' . NOW . '", user_touched = "' . NOW . '", user_password = "", user_token = "", user_email_token = NULL',
	'DELETE FROM recentchanges',
	'DELETE FROM logging',
	'DELETE FROM log_search',
	'DELETE FROM job',
	'DELETE FROM objectcache',
	'INSERT INTO searchindex(searchindex) VALUES ("optimize")',
	'VACUUM',
] as $statement ) {
	$wiki->exec( $statement );
}

// What was rendered during the import took articles that came later for missing: all is rendered again.
$cache = new SQLite3( '/srv/wiki/data/wikicache.sqlite' );
$cache->enableExceptions( true );
$cache->exec( 'DELETE FROM objectcache' );
$cache->exec( 'VACUUM' );

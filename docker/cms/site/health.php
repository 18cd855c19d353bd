<?php
// The health probe: WordPress loads, and its database answers with the articles.
require __DIR__ . '/wp-load.php';
$published = (int) wp_count_posts()->publish;
header( 'Content-Type: text/plain; charset=utf-8' );
if ( $published < 1 ) {
	http_response_code( 503 );
	exit( "no articles\n" );
}
echo "ready: $published articles\n";

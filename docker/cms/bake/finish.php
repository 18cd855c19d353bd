<?php
// Lets WordPress write what it derives from the content: the rules of its addresses, and which category has which below it.
$_SERVER += array( 'HTTP_HOST' => 'cms.arena.test', 'REQUEST_URI' => '/', 'SERVER_PROTOCOL' => 'HTTP/1.1', 'REQUEST_METHOD' => 'GET' );
require '/srv/cms/www/wp-load.php';
require ABSPATH . 'wp-admin/includes/admin.php';
flush_rewrite_rules( false );
_get_term_hierarchy( 'category' );
foreach ( array( 'categories', 'rss', 'text' ) as $widget ) { // as the page of widgets would write them when it is first seen
	update_option( "widget_$widget", array( 1 => array(), '_multiwidget' => 1 ) );
}
update_option( 'admin_email_lifespan', gmmktime( 9, 0, 0, 10, 1, 2036 ) ); // the installation took the machine's time

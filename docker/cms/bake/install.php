<?php
// Creates WordPress' tables and default options; the content comes afterwards, from newsroom's SQL.
define( 'WP_INSTALLING', true );
$_SERVER += array( 'HTTP_HOST' => 'cms.arena.test', 'REQUEST_URI' => '/', 'SERVER_PROTOCOL' => 'HTTP/1.1', 'REQUEST_METHOD' => 'GET' );
require '/srv/cms/www/wp-load.php';
require ABSPATH . 'wp-admin/includes/upgrade.php';
wp_install( 'The Merrow Gazette', 'admin', 'admin@merrowgazette.example', true, '', 'replaced by the seed' );

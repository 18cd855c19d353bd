<?php
// WordPress at whatever host it is asked for; constant keys, no clockwork, nothing from outside.
$arena_host = $_SERVER['HTTP_HOST'] ?? 'cms.arena.test';
if ( ! preg_match( '/^[a-z0-9.-]+(:\d+)?$/i', $arena_host ) ) {
	http_response_code( 400 );
	exit;
}
define( 'WP_HOME', 'http://' . $arena_host );
define( 'WP_SITEURL', WP_HOME );

define( 'DB_HOST', 'localhost:/run/cms/mariadb.sock' );
define( 'DB_NAME', 'cms' );
define( 'DB_USER', 'wordpress' );
define( 'DB_PASSWORD', 'wordpress' );
define( 'DB_CHARSET', 'utf8mb4' );
define( 'DB_COLLATE', 'utf8mb4_unicode_ci' );
$table_prefix = 'wp_';

// Constant, so that cookies and nonces do not hang on the build; nothing secret stands behind them.
define( 'AUTH_KEY', 'lPz3 gazette auth key 7Q' );
define( 'SECURE_AUTH_KEY', 'vR81 gazette secure auth key nB' );
define( 'LOGGED_IN_KEY', 'Yt5w gazette logged in key 0c' );
define( 'NONCE_KEY', 'd9Xk gazette nonce key Hs' );
define( 'AUTH_SALT', 'M2ue gazette auth salt 6r' );
define( 'SECURE_AUTH_SALT', 'aZ70 gazette secure auth salt Lw' );
define( 'LOGGED_IN_SALT', 'q4Jv gazette logged in salt E1' );
define( 'NONCE_SALT', 'Uc8m gazette nonce salt x5' );
define( 'COOKIEHASH', 'gazette' );

define( 'WP_ENVIRONMENT_TYPE', 'local' ); // application passwords over plain HTTP
define( 'WP_HTTP_BLOCK_EXTERNAL', true );
define( 'DISABLE_WP_CRON', true );
define( 'AUTOMATIC_UPDATER_DISABLED', true );
define( 'DISALLOW_FILE_MODS', true );
define( 'AUTOSAVE_INTERVAL', 86400 );
define( 'WP_DEFAULT_THEME', 'gazette' );
define( 'WP_TEMP_DIR', '/tmp' );
define( 'FS_METHOD', 'direct' );

if ( ! defined( 'ABSPATH' ) ) {
	define( 'ABSPATH', __DIR__ . '/' );
}
require_once ABSPATH . 'wp-settings.php';

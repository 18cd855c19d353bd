<?php
/**
 * Plugin Name: Quiet
 * Description: Nothing comes from outside or goes there, nothing runs on its own account.
 */

// No requests, no mail, no pings: each fails or succeeds at once, without the network.
add_filter( 'pre_http_request', static fn () => new WP_Error( 'http_request_not_executed', 'This site has no way out.' ) );
add_filter( 'pre_wp_mail', '__return_true' );
add_filter( 'translations_api', static fn () => array( 'translations' => array() ) );
add_filter( 'embed_oembed_discover', '__return_false' );
remove_action( 'do_all_pings', 'do_all_pings', 10 );

// No emoji from a host, no hints to connect there, no remote patterns, blocks and fonts.
remove_action( 'wp_head', 'print_emoji_detection_script', 7 );
remove_action( 'admin_print_scripts', 'print_emoji_detection_script' );
remove_action( 'embed_head', 'print_emoji_detection_script' );
remove_action( 'wp_print_styles', 'print_emoji_styles' );
remove_action( 'admin_print_styles', 'print_emoji_styles' );
add_filter( 'emoji_svg_url', '__return_false' );
add_filter( 'wp_resource_hints', '__return_empty_array' );
add_filter( 'should_load_remote_block_patterns', '__return_false' );
remove_action( 'enqueue_block_editor_assets', 'wp_enqueue_editor_block_directory_assets' );

// No checks for updates, browsers or PHP, and no e-mail address to confirm.
add_action(
	'admin_init',
	static function () {
		remove_action( 'admin_init', '_maybe_update_core' );
		remove_action( 'admin_init', '_maybe_update_plugins' );
		remove_action( 'admin_init', '_maybe_update_themes' );
	},
	0
);
add_filter( 'admin_email_check_interval', '__return_zero' );
add_action(
	'wp_dashboard_setup',
	static function () {
		remove_meta_box( 'dashboard_primary', 'dashboard', 'side' );    // news of wordpress.org
		remove_meta_box( 'dashboard_site_health', 'dashboard', 'normal' ); // asks wordpress.org
	}
);

// Housekeeping is never planned, as nothing would run it; a post's publication is, for the editor shows it.
add_filter(
	'pre_schedule_event',
	static fn ( $done, $event ) => 'publish_future_post' === $event->hook ? $done : true,
	10,
	2
);

// The browser's pulse comes every ten minutes, the most that WordPress lets it wait.
add_filter( 'heartbeat_settings', static fn ( $settings ) => array( 'minimalInterval' => 600 ) + $settings );

// Two comments within fifteen seconds are no flood: everybody here has the same address.
remove_filter( 'wp_is_comment_flood', 'wp_check_comment_flood', 10 );
remove_action( 'check_comment_flood', 'check_comment_flood_db', 10 );

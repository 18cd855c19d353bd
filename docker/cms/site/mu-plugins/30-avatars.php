<?php
/**
 * Plugin Name: Avatars
 * Description: Pictures of people come from this site: one of 256 drawn patterns, by the hash of the address.
 */
add_filter(
	'get_avatar_url',
	static function ( $url ) {
		$hash = preg_match( '#/avatar/([0-9a-f]{2})#', $url, $found ) ? $found[1] : '00';
		return content_url( "mu-plugins/avatars/$hash.svg" );
	}
);

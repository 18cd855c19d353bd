<?php
/**
 * Plugin Name: Scratch
 * Description: Keeps what passes (transients of forms, edit locks) in files of the container instead of the database. Looking at a page keeps nothing, but that an editor was opened.
 */

/**
 * Lives for one request, but for the groups that must outlive it: those are files too. What a page that is only looked at
 * would like to keep is worked out anew by the next one, so that no visit can be told from what a later one sees.
 */
final class Scratch_Cache extends WP_Object_Cache {
	private const FOLDER = '/run/cms/scratch';
	private const KEPT   = array(
		'transient'      => true,
		'site-transient' => true,
		'edit-lock'      => true,
	);

	public function get( $key, $group = 'default', $force = false, &$found = null ) {
		if ( isset( self::KEPT[ $group ] ) && ! $this->_exists( $key, $group ) ) {
			$kept = @file_get_contents( self::file( $key, $group ) );
			if ( false !== $kept ) {
				list( $until, $value ) = unserialize( $kept );
				if ( 0 === $until || $until > time() ) {
					parent::set( $key, $value, $group );
				}
			}
		}
		return parent::get( $key, $group, $force, $found );
	}

	public function set( $key, $data, $group = 'default', $expire = 0 ) {
		if ( self::keeps( $group ) ) {
			@mkdir( self::FOLDER );
			$draft = tempnam( self::FOLDER, 'new' );
			file_put_contents( $draft, serialize( array( $expire ? time() + $expire : 0, $data ) ) );
			rename( $draft, self::file( $key, $group ) );
		}
		return parent::set( $key, $data, $group, $expire );
	}

	public function delete( $key, $group = 'default', $deprecated = false ) {
		$kept = isset( self::KEPT[ $group ] ) && @unlink( self::file( $key, $group ) );
		return parent::delete( $key, $group ) || $kept;
	}

	public function flush() {
		array_map( 'unlink', glob( self::FOLDER . '/*' ) );
		return parent::flush();
	}

	private static function keeps( $group ) {
		$looks = in_array( $_SERVER['REQUEST_METHOD'] ?? 'GET', array( 'GET', 'HEAD' ), true );
		return 'edit-lock' === $group || ( isset( self::KEPT[ $group ] ) && ! $looks );
	}

	private static function file( $key, $group ) {
		return self::FOLDER . '/' . sha1( "$group $key" );
	}
}

$scratch                    = new Scratch_Cache();
$scratch->cache             = $GLOBALS['wp_object_cache']->cache; // what was read before plugins load
$GLOBALS['wp_object_cache'] = $scratch;
wp_using_ext_object_cache( true );

// Opening an article in the editor locks it; the lock is no part of the article.
add_filter(
	'update_post_metadata',
	static function ( $done, $post, $key, $value ) {
		return '_edit_lock' === $key ? wp_cache_set( $post, $value, 'edit-lock', HOUR_IN_SECONDS ) : $done;
	},
	10,
	4
);
add_filter(
	'get_post_metadata',
	static function ( $found, $post, $key ) {
		return '_edit_lock' === $key ? array( wp_cache_get( $post, 'edit-lock' ) ) : $found;
	},
	10,
	3
);
add_filter(
	'delete_post_metadata',
	static function ( $done, $post, $key ) {
		return '_edit_lock' === $key ? wp_cache_delete( $post, 'edit-lock' ) : $done;
	},
	10,
	3
);
// When an application password was last used is no state either.
add_filter(
	'update_user_metadata',
	static function ( $done, $user, $key, $value ) {
		$lasting = static fn ( $items ) => array_map(
			static fn ( $item ) => array_diff_key( $item, array( 'last_used' => 0, 'last_ip' => 0 ) ),
			(array) $items
		);
		$same = '_application_passwords' === $key
			&& $lasting( get_user_meta( $user, $key, true ) ) === $lasting( $value );
		return $same ? true : $done;
	},
	10,
	4
);

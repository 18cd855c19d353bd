<?php
/**
 * Plugin Name: Signed sessions
 * Description: A login leaves no trace in the database: the cookie's signature proves it. Logging out does: what was ended stays ended.
 */

/**
 * WordPress signs its cookies with keys of wp-config.php and a piece of the password's hash, so a token need not be stored to be
 * believed. Stored are the tokens that were ended, and after "log out everywhere" those that began since.
 */
final class Signed_Sessions extends WP_Session_Tokens {
	private const META = 'ended_sessions';
	private const NONE = array( 'ended' => array(), 'all' => false, 'since' => array() );

	protected function get_sessions() {
		$here = get_current_user_id() === $this->user_id ? wp_get_session_token() : '';
		return '' === $here ? array() : array( hash( 'sha256', $here ) => $this->session() );
	}

	protected function get_session( $verifier ) {
		$known = $this->known();
		$ended = isset( $known['ended'][ $verifier ] ) || ( $known['all'] && ! isset( $known['since'][ $verifier ] ) );
		return $ended ? null : $this->session();
	}

	protected function update_session( $verifier, $session = null ) {
		$known = $this->known();
		if ( null === $session ) {
			unset( $known['since'][ $verifier ] );
			$known['ended'][ $verifier ] = true;
		} elseif ( $known['all'] ) {
			$known['since'][ $verifier ] = true;
		} else {
			return;
		}
		update_user_meta( $this->user_id, self::META, $known );
	}

	protected function destroy_other_sessions( $verifier ) {
		$known = array( 'all' => true, 'since' => array( $verifier => true ) ) + self::NONE;
		update_user_meta( $this->user_id, self::META, $known );
	}

	protected function destroy_all_sessions() {
		update_user_meta( $this->user_id, self::META, array( 'all' => true ) + self::NONE );
	}

	public static function drop_sessions() {
		delete_metadata( 'user', 0, self::META, false, true );
	}

	private function known() {
		return ( get_user_meta( $this->user_id, self::META, true ) ?: array() ) + self::NONE;
	}

	private function session() {
		return array( 'expiration' => time() + YEAR_IN_SECONDS ); // the cookie itself says when it ends
	}
}

add_filter( 'session_token_manager', static fn () => Signed_Sessions::class );

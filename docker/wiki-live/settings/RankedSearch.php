<?php

use MediaWiki\MediaWikiServices;
use Wikimedia\Rdbms\FakeResultWrapper;

/**
 * Full-text search on sqlite with one list, the best match first: MediaWiki's own keeps the order
 * of page ids. Ranks by Okapi BM25 over title and text, a word in the title counting as many.
 */
class RankedSearch extends SearchSqlite {
	private const TITLE_WEIGHT = 8.0;
	private const K1 = 1.2;

	/** Fold accents away, in what is indexed and in what is asked. */
	public function normalizeText( $string ) {
		return parent::normalizeText( self::folded( $string ) );
	}

	/** Title matches stand in the one list already. */
	protected function doSearchTitleInDB( $term ) {
		return null;
	}

	protected function doSearchTextInDB( $term ) {
		$words = preg_match_all( '/[\p{L}\p{N}]+/u', self::folded( $term ), $found ) ? $found[0] : [];
		if ( !$words ) {
			return null;
		}
		$rows = $this->ranked( implode( ' ', $words ) );
		$shown = array_slice( $rows, $this->offset, $this->limit );
		$marks = array_map( static fn ( $word ) => '\b' . preg_quote( $word, '/' ) . '\w*', $words );
		return new SqlSearchResultSet( new FakeResultWrapper( $shown ), $marks, count( $rows ) );
	}

	/** @return stdClass[] of page_namespace and page_title, best first */
	private function ranked( string $query ): array {
		$db = MediaWikiServices::getInstance()->getDBLoadBalancer()->getConnection( DB_REPLICA );
		$spaces = $db->makeList( $this->namespaces ?: [ NS_MAIN ] );
		$result = $db->query(
			'SELECT page_id, page_namespace, page_title, matchinfo(searchindex, "pcnx") AS facts ' .
			'FROM searchindex JOIN page ON page_id = searchindex.rowid ' .
			'WHERE searchindex MATCH ' . $db->addQuotes( $query ) .
			" AND page_namespace IN ($spaces) AND page_is_redirect = 0",
			__METHOD__
		);
		$rows = [];
		foreach ( $result as $row ) {
			$row->score = self::score( array_values( unpack( 'V*', $row->facts ) ) );
			$rows[] = $row;
		}
		usort( $rows, static fn ( $a, $b ) => [ $b->score, $a->page_id ] <=> [ $a->score, $b->page_id ] );
		return $rows;
	}

	/** @param int[] $facts phrases, columns, rows, then (hits here, hits, rows hit) per phrase and column */
	private static function score( array $facts ): float {
		[ $phrases, $columns, $pages ] = $facts;
		$score = 0.0;
		for ( $phrase = 0; $phrase < $phrases; $phrase++ ) {
			for ( $column = 0; $column < $columns; $column++ ) {
				$at = 3 + 3 * ( $phrase * $columns + $column );
				$hits = $facts[$at];
				$rarity = log( 1 + ( $pages - $facts[$at + 2] + 0.5 ) / ( $facts[$at + 2] + 0.5 ) );
				$weight = $column === 0 ? self::TITLE_WEIGHT : 1.0;
				$score += $weight * $rarity * $hits * ( self::K1 + 1 ) / ( $hits + self::K1 );
			}
		}
		return $score;
	}

	private static function folded( string $text ): string {
		return Transliterator::create( 'NFD; [:Nonspacing Mark:] Remove; NFC' )->transliterate( $text );
	}
}

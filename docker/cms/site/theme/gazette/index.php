<?php
/** Lists: the front page with a lead story and a grid, all others as rows. */
get_header();
if ( is_search() ) {
	printf( '<h1 class="page-title">Search results for “%s”</h1>', esc_html( get_search_query() ) );
	printf( '<p class="page-about">%s found.</p>', esc_html( number_format_i18n( $GLOBALS['wp_query']->found_posts ) ) );
} elseif ( ! is_home() ) {
	the_archive_title( '<h1 class="page-title">', '</h1>' );
	the_archive_description( '<div class="page-about">', '</div>' );
} elseif ( is_paged() ) {
	echo '<h1 class="page-title">Latest articles</h1>';
}
$front = is_home() && ! is_paged();
$place = 0;
while ( have_posts() ) {
	the_post();
	if ( $front && 0 === $place ) {
		gazette_card( 'lead', 'large' );
		echo '<div class="grid">';
	} else {
		gazette_card( $front ? 'tile' : 'row' );
	}
	++$place;
}
if ( $front && $place ) {
	echo '</div>';
}
if ( ! $place ) {
	echo '<p>Nothing was found. Perhaps another word leads further.</p>';
	get_search_form();
}
the_posts_pagination( array( 'mid_size' => 2 ) );
get_footer();

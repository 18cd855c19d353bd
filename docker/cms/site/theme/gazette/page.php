<?php
/** A standing page with the list of what is below it. */
get_header();
while ( have_posts() ) {
	the_post();
	$above = wp_get_post_parent_id( get_the_ID() );
	?>
	<article id="post-<?php the_ID(); ?>" <?php post_class( 'entry' ); ?>>
		<?php if ( $above ) : ?>
			<p class="kicker"><a href="<?php echo esc_url( get_permalink( $above ) ); ?>"><?php echo esc_html( get_the_title( $above ) ); ?></a></p>
		<?php endif; ?>
		<?php the_title( '<h1 class="entry-title">', '</h1>' ); ?>
		<div class="entry-content"><?php the_content(); ?></div>
		<?php
		$below = wp_list_pages(
			array(
				'child_of' => get_the_ID(),
				'depth'    => 1,
				'title_li' => '',
				'echo'     => false,
			)
		);
		if ( $below ) {
			echo '<ul class="children">' . $below . '</ul>';
		}
		edit_post_link( 'Edit this page', '<p class="byline">', '</p>' );
		?>
	</article>
	<?php
	if ( comments_open() || get_comments_number() ) {
		comments_template();
	}
}
get_footer();

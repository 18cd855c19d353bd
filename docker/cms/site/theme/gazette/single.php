<?php
/** One article with its author and its comments. */
get_header();
while ( have_posts() ) {
	the_post();
	?>
	<article id="post-<?php the_ID(); ?>" <?php post_class( 'entry' ); ?>>
		<?php gazette_kicker(); ?>
		<?php the_title( '<h1 class="entry-title">', '</h1>' ); ?>
		<?php gazette_byline(); ?>
		<?php if ( has_post_thumbnail() ) : ?>
			<figure class="featured">
				<?php the_post_thumbnail( 'large' ); ?>
				<figcaption><?php echo esc_html( get_the_post_thumbnail_caption() ); ?></figcaption>
			</figure>
		<?php elseif ( is_attachment() ) : ?>
			<figure class="featured">
				<?php echo wp_get_attachment_image( get_the_ID(), 'large' ); ?>
				<figcaption><?php echo esc_html( get_the_excerpt() ); ?></figcaption>
			</figure>
		<?php endif; ?>
		<div class="entry-content">
			<?php
			if ( is_attachment() ) {
				echo '<p>' . esc_html( get_the_content() ) . '</p>';
			} else {
				the_content();
			}
			wp_link_pages();
			?>
		</div>
		<?php the_tags( '<p class="tags">Tags: ', ' ', '</p>' ); ?>
		<?php edit_post_link( 'Edit this article', '<p class="byline">', '</p>' ); ?>
		<?php if ( 'post' === get_post_type() ) : ?>
			<div class="author-box">
				<?php echo get_avatar( get_the_author_meta( 'ID' ), 56, '', '' ); ?>
				<p><strong><?php the_author_posts_link(); ?></strong><br><?php echo esc_html( get_the_author_meta( 'description' ) ); ?></p>
			</div>
			<nav class="neighbours" aria-label="Articles before and after">
				<div class="nav-previous"><?php previous_post_link( 'Before: %link' ); ?></div>
				<div class="nav-next"><?php next_post_link( 'After: %link' ); ?></div>
			</nav>
		<?php endif; ?>
	</article>
	<?php
	comments_template();
}
get_footer();

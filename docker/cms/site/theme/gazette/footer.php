</main>
<?php get_sidebar(); ?>
</div>
<footer class="foot">
	<div class="wrap">
		<?php
		wp_nav_menu(
			array(
				'theme_location' => 'footer',
				'container'      => 'nav',
				'fallback_cb'    => false,
				'depth'          => 1,
			)
		);
		?>
		<p><?php bloginfo( 'name' ); ?> · <a href="<?php echo esc_url( get_feed_link() ); ?>">RSS</a> · <?php wp_loginout(); ?></p>
	</div>
</footer>
<?php wp_footer(); ?>
</body>
</html>

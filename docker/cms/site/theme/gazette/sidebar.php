<aside class="sidebar" aria-label="Sidebar">
	<?php dynamic_sidebar( 'sidebar-1' ); ?>
</aside>

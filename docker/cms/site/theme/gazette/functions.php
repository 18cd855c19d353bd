<?php
/** The theme's features: menus, a sidebar, pictures, and a look in the editor. */

add_action(
	'after_setup_theme',
	static function () {
		add_theme_support( 'title-tag' );
		add_theme_support( 'automatic-feed-links' );
		add_theme_support( 'post-thumbnails' );
		add_theme_support( 'html5', array( 'search-form', 'comment-form', 'comment-list', 'gallery', 'caption', 'style', 'script' ) );
		add_theme_support( 'responsive-embeds' );
		add_theme_support( 'custom-logo' );
		add_theme_support( 'editor-styles' );
		add_editor_style( 'editor.css' );
		remove_theme_support( 'core-block-patterns' );
		register_nav_menus(
			array(
				'primary' => 'Sections, below the masthead',
				'footer'  => 'Small print, at the foot',
			)
		);
	}
);

add_action(
	'widgets_init',
	static function () {
		register_sidebar(
			array(
				'name'          => 'Sidebar',
				'id'            => 'sidebar-1',
				'before_widget' => '<section id="%1$s" class="widget %2$s">',
				'after_widget'  => '</section>',
			)
		);
	}
);

add_action(
	'wp_enqueue_scripts',
	static function () {
		wp_enqueue_style( 'gazette', get_stylesheet_uri(), array(), wp_get_theme()->get( 'Version' ) );
		if ( is_singular() && comments_open() ) {
			wp_enqueue_script( 'comment-reply' );
		}
	}
);

add_filter( 'excerpt_length', static fn () => 26 );
add_filter( 'excerpt_more', static fn () => '…' );

/** Prints the section that an article stands in. */
function gazette_kicker() {
	$section = get_the_category()[0] ?? null;
	if ( $section ) {
		printf( '<p class="kicker"><a href="%s">%s</a></p>', esc_url( get_category_link( $section ) ), esc_html( $section->name ) );
	}
}

/** Prints who wrote an article and when, and how many comments it has. */
function gazette_byline() {
	printf(
		'<p class="byline">By <a href="%s" rel="author">%s</a> · <time datetime="%s">%s</time> · <a href="%s">%s</a></p>',
		esc_url( get_author_posts_url( (int) get_the_author_meta( 'ID' ) ) ),
		esc_html( get_the_author() ),
		esc_attr( get_the_date( 'c' ) ),
		esc_html( get_the_date() ),
		esc_url( get_comments_link() ),
		esc_html( get_comments_number_text( 'No comments', '1 comment', '% comments' ) )
	);
}

/** Prints an article of a list. */
function gazette_card( $kind, $size = 'medium' ) {
	$bare = has_post_thumbnail() ? '' : ' bare';
	echo '<article id="post-' . get_the_ID() . '" class="' . esc_attr( "card $kind$bare" ) . '">';
	if ( has_post_thumbnail() ) {
		echo '<a class="picture" href="' . esc_url( get_permalink() ) . '" tabindex="-1" aria-hidden="true">';
		the_post_thumbnail( $size );
		echo '</a>';
	}
	echo '<div>';
	gazette_kicker();
	the_title( '<h2><a href="' . esc_url( get_permalink() ) . '" rel="bookmark">', '</a></h2>' );
	gazette_byline();
	echo '<p class="excerpt">' . esc_html( get_the_excerpt() ) . '</p></div></article>';
}

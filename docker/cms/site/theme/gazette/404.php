<?php
/** What is not there. */
get_header();
?>
<h1 class="page-title">This page is not here</h1>
<p>Perhaps it has moved, perhaps it never was. The search may know.</p>
<?php
get_search_form();
get_footer();

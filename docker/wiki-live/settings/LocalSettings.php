<?php
// MediaWiki as https://en.wikipedia.org: sqlite, English, anonymous reading fast and without writing.
if ( !defined( 'MEDIAWIKI' ) ) {
	exit;
}

$wgSitename = 'Wikipedia';
$wgMetaNamespace = 'Project';
$wgServer = 'https://en.wikipedia.org';
$wgScriptPath = '/w';
$wgArticlePath = '/wiki/$1';
$wgUsePathInfo = true;
$wgEnableCanonicalServerLink = true;
$wgResourceBasePath = $wgScriptPath;
$wgLanguageCode = 'en';
$wgLocaltimezone = 'UTC';

$wgDBtype = 'sqlite';
$wgDBname = 'wiki';
$wgDBserver = '';
$wgSQLiteDataDir = '/srv/wiki/data';
$wgObjectCaches[CACHE_DB] = [
	'class' => SqlBagOStuff::class,
	'loggroup' => 'SQLBagOStuff',
	'server' => [
		'type' => 'sqlite',
		'dbname' => 'wikicache',
		'tablePrefix' => '',
		'variables' => [ 'synchronous' => 'NORMAL' ],
		'dbDirectory' => $wgSQLiteDataDir,
		'trxMode' => 'IMMEDIATE',
		'flags' => 0,
	],
	'purgePeriod' => 0,
];

// What readers need is baked (parser cache, localisation) or lives in memory (the rest).
$wgMainCacheType = CACHE_ACCEL;
$wgSessionCacheType = CACHE_ACCEL;
$wgMessageCacheType = CACHE_ACCEL;
$wgParserCacheType = CACHE_DB;
$wgParserCacheExpireTime = 5 * 365 * 86400; // ten years and more would be read as a point in time
$wgInvalidateCacheOnLocalSettingsChange = false;
$wgEnableParserLimitReporting = false;
$wgUseDatabaseMessages = false;
$wgLocalisationCacheConf = [
	'class' => LocalisationCache::class,
	'store' => 'array',
	'storeClass' => false,
	'storeDirectory' => '/srv/wiki/l10n',
	'storeServer' => [],
	'forceRecache' => false,
	'manualRecache' => true,
];
// Core's own messages win over $wgMessagesDirs; here, when the localisation is baked, ours do.
$wgHooks['LocalisationCacheRecache'][] = static function ( $cache, $code, &$data ) {
	$ours = json_decode( file_get_contents( '/srv/wiki/settings/messages.json' ), true, 4, JSON_THROW_ON_ERROR );
	$data['messages'] = $ours + $data['messages'];
};
// As on Wikipedia today, a heading's name is its words alone: no "[edit]" inside.
$wgHooks['ParserOutputPostCacheTransform'][] = static function ( $output, &$text, &$options ) {
	$options['enableSectionEditLinks'] = false;
};

// No clock, no network, no mail.
$wgJobRunRate = 0;
$wgPingback = false;
$wgEnableEmail = false;
$wgUseInstantCommons = false;
$wgEnableUploads = false;
$wgShowHostnames = false;
$wgDisableCounters = true;
$wgRCMaxAge = 100 * 365 * 86400;
$wgRateLimits = [];

// Constant, so that two builds are equal; nothing secret stands behind them.
$wgSecretKey = '6d3c1b7c2f0f4a5e9b8d7a6c5e4f3a2b1c0d9e8f7a6b5c4d3e2f1a0b9c8d7e6f';
$wgUpgradeKey = '0f1e2d3c4b5a6978';
$wgAuthenticationTokenVersion = '1';

wfLoadSkin( 'Vector' );
$wgDefaultSkin = 'vector-2022';
$wgLogos = [ 'icon' => '/icon.svg', '1x' => '/icon.svg' ];
$wgFavicon = '/icon.svg';
$wgFooterIcons = [];
$wgAllowUserCss = false;

require_once '/srv/wiki/settings/RankedSearch.php';
$wgSearchType = RankedSearch::class;

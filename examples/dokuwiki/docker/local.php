<?php
// DokuWiki's settings: quiet, with readable addresses, and accounts that only an administrator makes.
$conf['title'] = 'Harbour Handbook';
$conf['lang'] = 'en';
$conf['useacl'] = 1;
$conf['superuser'] = '@admin';
$conf['disableactions'] = 'register,resendpwd,profile_delete';
$conf['userewrite'] = 1;
$conf['useslash'] = 1;
$conf['updatecheck'] = 0;
$conf['mailguard'] = 'none';
$conf['license'] = '0';

# Begins as root, takes port 80, and gives up its privileges, as the store's web server does.
use strict;
use IO::Select;
use IO::Socket::INET;
$| = 1;
$SIG{TERM} = sub { exit 0 };
$SIG{PIPE} = 'IGNORE';
my ($pages, $control) = map {
    IO::Socket::INET->new(Listen => 64, LocalPort => $_, ReuseAddr => 1) or die "port $_: $!"
} (80, 8877);
unless (fork) { sleep 2; open my $ready, '>', '/run/market-ready'; exit 0 }
$( = $) = '33 33';
$< = $> = 33;
die 'still root' if $< == 0 or $> == 0;
my $listening = IO::Select->new($pages, $control);
sub slurp { open my $file, '<', $_[0] or return ''; local $/; my $text = <$file>; $text }
while (1) { serve(scalar $_->accept, $_ == $control) for $listening->can_read }

sub serve {
    my ($peer, $is_control) = @_;
    my ($method, $path) = <$peer> =~ /^(\S+) (\S+)/ or return close $peer;
    my %head;
    while (my $line = <$peer>) { last if $line =~ /^\r?$/; $head{lc $1} = $2 if $line =~ /^([^:]+):\s*(.*?)\r?$/ }
    my $body = '';
    read $peer, $body, $head{'content-length'} if $head{'content-length'};
    return answer($peer, '200 OK', '{"success": true, "services": {}}') if $is_control;
    my ($base) = slurp('/etc/market/active') =~ m{^http://(\S+)/};
    return answer($peer, '302 Found', '', "Location: http://$base$path") if $head{host} ne $base;
    my $known = ($head{cookie} // '') =~ /PHPSESSID=emma/;
    my $who = $head{'x-m2-customer-auto-login'} // '';
    my @set;
    if ($who eq 'emma.lopez@gmail.com:Password.123') { @set = ('Set-Cookie: PHPSESSID=emma; path=/'); $known = 1 }
    if ($path eq '/customer/account/loginPost/' and $method eq 'POST') {
        my $right = $body =~ /form_key=k1/ && $body =~ /emma\.lopez%40gmail\.com/ && $body =~ /Password\.123/;
        return answer($peer, '302 Found', '', 'Location: /customer/account/login/') unless $right;
        return answer($peer, '302 Found', '', 'Set-Cookie: PHPSESSID=emma; path=/', 'Location: /customer/account/');
    }
    if ($path =~ m{^/review/product/post} and $method eq 'POST') {
        open my $file, '>>', '/var/market/reviews'; print $file "<p>$body</p>"; close $file;
        return answer($peer, '302 Found', '', 'Location: /');
    }
    return answer($peer, '302 Found', '', 'Location: /customer/account/login/') if $path eq '/customer/account/' and not $known;
    my $inside = $path eq '/customer/account/' ? 'My Account: emma.lopez@gmail.com'
        : $path eq '/customer/account/login/' ? '<form id="login-form" action="/customer/account/loginPost/" method="post">'
            . '<input type="hidden" name="form_key" value="k1"><input name="login[username]">'
            . '<input type="password" name="login[password]"><button name="send">Sign In</button></form>'
        : '<h1>One Stop Market</h1><form action="/review/product/post/" method="post"><input name="detail" aria-label="Review">'
            . '<button>Submit Review</button></form>' . slurp('/var/market/reviews');
    answer($peer, '200 OK', "<!doctype html><html lang=en><title>One Stop Market</title>$inside</html>", @set);
}

sub answer {
    my ($peer, $status, $body, @more) = @_;
    my $head = join "\r\n", "HTTP/1.1 $status", 'Content-Type: text/html', 'Content-Length: ' . length $body,
        'Connection: close', @more, '', '';
    print $peer $head . $body;
    close $peer;
}

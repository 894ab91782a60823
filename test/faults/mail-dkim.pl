# Verifies DKIM signatures by Mail::DKIM. Arguments: a file with a line for each record of a key (host, tab, value), the domain whose signatures
# are verified, and the files of the messages. Prints a line for each file: its name, and algorithm and result of each signature of the domain.
use strict;
use warnings;
use Mail::DKIM::Verifier;
use Mail::DKIM::DNS;

my ($records, $domain, @files) = @ARGV;

my %texts;
open my $lines, '<', $records or die "$records: $!";
while (<$lines>) { chomp; my ($host, $value) = split /\t/; $texts{$host} = $value }
close $lines;

package Record { sub new { bless { text => $_[1] }, $_[0] } sub type { 'TXT' } sub txtdata { $_[0]->{text} } }

{
    no warnings 'redefine';
    *Mail::DKIM::DNS::query = sub { my ($name) = @_; return exists $texts{$name} ? (Record->new($texts{$name})) : () };
}

for my $file (@files) {
    my $verifier = Mail::DKIM::Verifier->new;
    open my $handle, '<:raw', $file or die "$file: $!";
    local $/;
    $verifier->PRINT(scalar <$handle>);
    $verifier->CLOSE;
    my @results = map { $_->algorithm . ' ' . $_->result } grep { $_->domain eq $domain } $verifier->signatures;
    print "$file ", join(', ', @results), "\n";
}

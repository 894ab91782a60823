# Verifies DKIM signatures by Mail::DKIM. Arguments: the host of the key's record, its value, and the files of the messages.
# Prints a line for each file: its name and the result of the first signature.
use strict;
use warnings;
use Mail::DKIM::Verifier;
use Mail::DKIM::DNS;

my ($host, $value, @files) = @ARGV;

package Record { sub new { bless { text => $_[1] }, $_[0] } sub type { 'TXT' } sub txtdata { $_[0]->{text} } }

{
    no warnings 'redefine';
    *Mail::DKIM::DNS::query = sub { my ($name) = @_; return $name eq $host ? (Record->new($value)) : () };
}

for my $file (@files) {
    my $verifier = Mail::DKIM::Verifier->new;
    open my $handle, '<:raw', $file or die "$file: $!";
    local $/;
    $verifier->PRINT(scalar <$handle>);
    $verifier->CLOSE;
    my ($signature) = $verifier->signatures;
    print "$file ", ($signature ? $signature->result : 'none'), "\n";
}

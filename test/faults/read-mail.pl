# Reads messages by MIME::Parser and prints a line of JSON for each: subject, addresses, leaves and defects. Arguments: files.
use strict;
use warnings;
use Encode ();
use JSON::PP;
use Mail::Address;
use MIME::Base64 qw(encode_base64);
use MIME::Parser;

sub decoded {
    my ($text) = @_;
    return undef unless defined $text;
    $text =~ s/\r?\n//g;
    return Encode::decode('MIME-Header', $text);
}

sub leaves {
    my ($entity) = @_;
    return map { leaves($_) } $entity->parts if $entity->parts;
    my $head = $entity->head;
    my $content = $entity->bodyhandle ? $entity->bodyhandle->as_string : '';
    my $type = lc $entity->mime_type;
    if ($type =~ m{^text/(?:plain|html)$}) {
        my $charset = $head->mime_attr('content-type.charset');
        my $text = eval { Encode::decode($charset // 'utf-8', $content) };
        $content = Encode::encode('utf-8', $text) if defined $text;
    }
    my $disposition = $head->mime_attr('content-disposition');
    return {
        type => $type,
        name => decoded($head->mime_attr('content-disposition.filename') // $head->mime_attr('content-type.name')),
        disposition => $disposition ? lc $disposition : undef,
        content => encode_base64($content, ''),
    };
}

for my $file (@ARGV) {
    my $parser = MIME::Parser->new;
    $parser->output_to_core(1);
    $parser->tmp_to_core(1);
    $parser->extract_nested_messages(0);
    open my $handle, '<:raw', $file or die "$file: $!";
    local $/;
    my $octets = <$handle>;
    # It takes a CR for a part of the line.
    $octets =~ s/\r\n/\n/g;
    my $entity = $parser->parse_data($octets);
    my $head = $entity->head;
    my %addresses = map {
        my $field = $_;
        $field => [map { $_->address } map { Mail::Address->parse(s/\r?\n//gr) } $head->get_all($field)]
    } qw(from to cc);
    print JSON::PP->new->ascii->encode({
        subject => decoded($head->get('subject')) // '',
        addresses => \%addresses,
        leaves => [leaves($entity)],
        defects => [map { s/\s+$//r } $parser->results->errors, $parser->results->warnings],
    }), "\n";
}

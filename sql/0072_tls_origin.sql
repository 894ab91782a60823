-- Where the TLS demand of an attempt comes from: a word of TLS_ORIGINS (core/delivery/tls/levels.ts). Null without a demand.
alter table attempts add column tls_origin text;

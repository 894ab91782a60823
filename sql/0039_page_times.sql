-- When the events of a page happened, so that an export of one day passes over the pages of the others of its week.
-- They are of the first `timed` events: an older version may add to a page without them, and those there were have none. Such a page is read.
alter table event_pages
  add column earliest  timestamptz,
  add column latest    timestamptz,
  add column timed     integer;

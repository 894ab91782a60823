-- expand
-- Counting the mail of many accounts: a batch writes a few rows of each account, and its delivery times mostly have one delivery.

-- New versions of the rows of this hour stay on their page, so that they add no entries to its indexes. For pages still to be filled.
alter table delivery_counts set (fillfactor = 50);
alter table account_counts set (fillfactor = 50);

-- As before, but 0.8 us instead of 4.2 for one delivery.
create or replace function count_buckets(buckets integer[]) returns integer[] language plpgsql immutable strict as $$
declare
  counts integer[];
  bucket integer;
begin
  if cardinality(buckets) = 1 then
    return array_fill(0, array[buckets[1] - 1]) || 1;
  end if;
  counts := array_fill(0, array[(select max(each) from unnest(buckets) each)]);
  foreach bucket in array buckets loop
    counts[bucket] := counts[bucket] + 1;
  end loop;
  return counts;
end
$$;

-- As before, but 1.5 us instead of 7.7 if only the last element of the other is not 0: count_buckets returns no trailing zeros.
create or replace function add_counts(one integer[], other integer[]) returns integer[] language plpgsql immutable as $$
declare
  size integer := cardinality(other);
begin
  if one is null then
    return other;
  elsif other is null then
    return one;
  elsif other[size] > 0 and cardinality(array_remove(other, 0)) = 1 then
    if cardinality(one) < size then
      one := one || array_fill(0, array[size - cardinality(one)]);
    end if;
    one[size] := least(coalesce(one[size], 0)::bigint + other[size], 2147483647);
    return one;
  end if;
  return array(select least(coalesce(a, 0)::bigint + coalesce(b, 0), 2147483647)::integer from unnest(one, other) as both_of(a, b));
end
$$;

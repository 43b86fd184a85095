-- The answers of completed requests of the loops given, as their columns say them, each with an id
-- of its time.
INSERT INTO reviews_answer (
    id, request_id, account_id, loop_id, person_id, data, comment, asked_at, answered_at)
SELECT lpad(to_hex((extract(epoch FROM response_at) * 1000)::bigint), 12, '0')
           || substr(md5(id), 1, 9) || right(creator_id, 3),
       id, creator_id, loop_id, response_by_id, response_data, response_comment, created_at,
       response_at
  FROM reviews_request WHERE loop_id = ANY (%(loops)s) AND status = 'completed'

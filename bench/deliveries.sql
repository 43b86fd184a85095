-- A delivery and an attempt for each request of a loop that has ended: a fifth waits after a failed
-- attempt, a fifth is dead, and the others are delivered. Nothing is due within a day.
WITH ended AS (
    SELECT id, creator_id, created_at, row_number() OVER (ORDER BY created_at DESC) AS n
      FROM reviews_request
     WHERE loop_id = %(loop)s AND status IN ('completed', 'timeout', 'cancelled')
     LIMIT %(count)s
), made AS (
    INSERT INTO webhooks_delivery (id, account_id, event, subject_id, occurrence, url, host, body,
           state, next_attempt_at, failed_attempts, is_manual, created_at, delivered_at)
    SELECT left(id, 12) || left(md5(id), 9) || right(creator_id, 3), creator_id,
           'request.completed', id, id || ':end',
           'https://' || chr(97 + (n %% 2)::int) || '.example/hook',
           chr(97 + (n %% 2)::int) || '.example', '{}',
           (ARRAY['waiting', 'dead', 'delivered', 'delivered', 'delivered'])[1 + n %% 5],
           now() + interval '1 day', (n %% 5 < 2)::int, false, created_at,
           CASE WHEN n %% 5 > 1 THEN created_at END
      FROM ended
    RETURNING id, account_id, state, created_at
)
INSERT INTO webhooks_attempt (id, account_id, delivery_id, is_manual, started_at, finished_at,
       status_code, error)
SELECT left(id, 12) || right(md5(id), 9) || right(account_id, 3), account_id, id, false,
       created_at, created_at, CASE state WHEN 'delivered' THEN 200 ELSE 503 END, ''
  FROM made

"""The rows about loops, members, invitations and the check of a key."""

KEY_CHECK = {
    "test.api_key_id": "GET /test: api_key_id, a string",
    "test.user_id": "GET /test: user_id, a string",
    "test.email": "GET /test: email of the account",
    "test.account_status": "GET /test: account_status, active or inactive",
    "test.rate_limit": "GET /test: rate_limit of limit, remaining, reset_at",
    "test.permissions": "GET /test: permissions, an array of strings",
    "test.msg": "GET /test: 'API key is valid'",
    "test.failures": "GET /test: 401 for key problems, 429 beyond the limit",
    "test.failed": "GET /test: 500 'Failed to get user information'",
}

LOOP = {
    "loop.id": "id: loop identifier",
    "loop.name": "name: string of 1-100 characters",
    "loop.description": "description: string of at most 500 characters, '' when absent",
    "loop.icon": "icon: string of 1-100 characters on creation",
    "loop.creator_id": "creator_id: the creator's user id, which never changes",
    "loop.members": "members: array of Member, the creator included",
    "loop.member_count": "member_count: active and pending members",
    "loop.pending_count": "pending_count: members with status pending",
    "loop.created_at": "created_at: a timestamp",
    "loop.updated_at": "updated_at: a timestamp that every change moves",
    "loop.creator_active": "the creator is an active member from the start",
    "member.user_id": "user_id: string",
    "member.email": "email: string",
    "member.status": "status: pending (invited) or active (receives requests)",
    "member.joined_at": "joined_at: a timestamp, null while pending",
    "member.states": "joining makes a member active, with joined_at set",
}

CREATE = {
    "create_loop.name": "create: name, required, 1-100",
    "create_loop.description": "create: description, optional, at most 500",
    "create_loop.icon": "create: icon, required, any string of 1-100",
    "create_loop.loop": "create: data.loop is the Loop, with 201",
    "create_loop.invite_code": "create: data.invite_code, string",
    "create_loop.qr_code_base64": "create: data.qr_code_base64, a PNG as data URI of the join URL",
    "create_loop.qr_code_url": "create: data.qr_code_url, {SITE_URL}/qr/{code}.png, no sign-in",
    "create_loop.join_url": "create: data.join_url, {SITE_URL}/join/{code}",
    "create_loop.msg": "create: 'Loop created successfully with QR code'",
    "create_loop.name_required": "create: 400 'Loop name is required'",
    "create_loop.icon_required": "create: 400 'Loop icon is required'",
    "create_loop.invalid_body": "create: 400 'Invalid request body'",
    "create_loop.failed": "create: 500 'Failed to create loop'",
}

READ = {
    "list_loops.loops": "list: data.loops, the loops that the caller created",
    "list_loops.count": "list: data.count, integer",
    "list_loops.msg": "list: 'Loops retrieved successfully'",
    "list_loops.failed": "list: 500 'Failed to retrieve loops'",
    "read_loop.loop": "read: data.loop, 'Loop retrieved successfully'",
    "read_loop.invitation": "read, update: invite_code, join_url, qr_code_url, for the creator",
    "read_loop.malformed": "read: 400 'Invalid loop ID format'",
    "read_loop.denied": "read: 403 'Access denied to this loop' for all but the creator",
    "read_loop.missing": "read: 404 'Loop not found'",
    "read_loop.failed": "read: 500 'Failed to retrieve loop'",
}

UPDATE = {
    "update_loop.name": "update: name, optional, 1-100",
    "update_loop.description": "update: description, optional, at most 500",
    "update_loop.icon": "update: icon, optional, one of the 30 identifiers",
    "update_loop.partial": "update: only supplied fields change; members and requests stay",
    "update_loop.updated_at": "update: updated_at changes",
    "update_loop.loop": "update: data.loop, 'Loop updated successfully'",
    "update_loop.empty": "update: 400 'At least one field must be provided for update'",
    "update_loop.validation": "update: 400 'Validation failed' with a data string",
    "update_loop.malformed": "update: 400 'Invalid loop ID format'",
    "update_loop.denied": "update: 403 'Only loop creator can update the loop'",
    "update_loop.missing": "update: 404 'Loop not found'",
    "update_loop.failed": "update: 500 'Failed to update loop'",
}

TEACHING = {
    "loop_statistics.shares": "statistics: shares from 0 to 1 of approvals, in all and by tool",
    "loop_statistics.opening": "statistics: the median of seconds from opening to answer",
    "loop_statistics.quick": "statistics: may_not_have_been_read, the share within two seconds",
    "loop_statistics.denied": "statistics: 403 'Access denied to this loop' for others",
    "loop_statistics.failed": "statistics: 500 'Failed to retrieve loop statistics'",
    "loop_decisions.lines": "decisions: a line of JSON for each ended request, the newest first",
    "loop_decisions.span": "decisions: since and until bound the creation; else a 400",
    "loop_decisions.denied": "decisions: 403 'Access denied to this loop' for others",
    "loop_decisions.ends": "decisions: breaks off if key, permission, account or loop ends",
    "loop_decisions.once": "decisions: 409 'Another export is running'",
    "loop_decisions.failed": "decisions: 500 'Failed to export decisions'",
}

DELETE = {
    "delete_loop.data": "delete: 200 with data {loop_id}, 'Loop deleted successfully'",
    "delete_loop.gone": "delete: the loop leaves every list and answers 404",
    "delete_loop.open_requests": "delete: pending and claimed requests become cancelled, no credit",
    "delete_loop.finished": "delete: finished requests stay readable and can get feedback",
    "delete_loop.malformed": "delete: 400 'Invalid loop ID format'",
    "delete_loop.denied": "delete: 403 'Only loop creator can delete the loop'",
    "delete_loop.missing": "delete: 404 'Loop not found'",
    "delete_loop.failed": "delete: 500 'Failed to delete loop'",
}

MEMBERS = {
    "list_members.data": "members: loop_id, members, count, active_count, pending_count",
    "list_members.counts": "members: total_count and member_count repeat count",
    "list_members.msg": "members: 'Loop members retrieved successfully'",
    "list_members.malformed": "members: 400 'Invalid loop ID format'",
    "list_members.denied": "members: 403 'Access denied to this loop' for all but the creator",
    "list_members.missing": "members: 404 'Loop not found'",
    "list_members.failed": "members: 500 'Failed to retrieve loop members'",
    "remove_member.data": "remove: data {loop_id, user_id, removed_at}",
    "remove_member.msg": "remove: 'Member removed from loop successfully'",
    "remove_member.malformed": "remove: 400 'Invalid loop ID format'",
    "remove_member.denied": "remove: 403 'Only loop creator can remove members'",
    "remove_member.creator": "remove: 403 'Loop creator cannot remove themselves'",
    "remove_member.no_member": "remove: 404 'User is not a member of this loop', malformed too",
    "remove_member.missing": "remove: 404 'Loop not found'",
    "remove_member.access": "remove: access ends at once; rejoining with the code is possible",
    "remove_member.claims": "remove: what they held as claimed goes back to pending",
    "remove_member.failed": "remove: 500 'Failed to remove member'",
    "pending.reserved": "an invited address reserves a user id, kept when that person joins",
    "pending.listed": "pending members are listed, counted, removable, and get no broadcasts",
}

INVITES = {
    "invite.code": "codes: 50 bits or more, no look-alikes, case-insensitive on entry",
    "invite.rotate": "a rotated code stops working at once",
    "invite.same_answer": "unknown and retired codes get the same answer",
    "invite.opening": "opening a join link changes nothing",
    "invite.post": "joining is a POST by a signed-in person, verified or not",
    "invite.late": "whoever joins later sees the requests that are still open",
    "invite.unlimited": "no limit on the number of loops or members",
}

// Shows what the person had typed for an earlier version of the question, to be copied: it may no longer fit.

import { Draft } from "../drafts.js";
import { showUnsentDraft } from "./answer_form.js";

export function offerDraft({ person, earlier }) {
  const drafts = earlier.split(" ").map((id) => new Draft(person, id));
  const typed = drafts.find((draft) => draft.read().words);
  if (typed) showUnsentDraft(typed);
}

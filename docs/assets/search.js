// The search of the site compares the beginnings of words, also for short words: "a" finds "Action". This script
// removes short words and word endings from a query, so that "rename a team" and "renaming teams" find the same.
const SHORT = new Set("a an and are can do for from how i in into is it my of on or the to what where with".split(" "));
const QUERY = 2; // the type of a message with a query, in Material for MkDocs

function simplified(query) {
  if (/["+*:^~-]/.test(query)) return query; // a query with operators
  const words = query.trim().split(/\s+/);
  const long = words.filter((word) => !SHORT.has(word.toLowerCase()));
  return (long.length ? long : words).map((word) => word.replace(/(?<=\w{4})(ing|ed|es|s)$/i, "")).join(" ");
}

const post = Worker.prototype.postMessage;
Worker.prototype.postMessage = function (message, ...rest) {
  const query = message?.type === QUERY && typeof message.data === "string";
  return post.call(this, query ? { ...message, data: simplified(message.data) } : message, ...rest);
};

import { ada, grace } from "../people.ts";

/** Initial reviews; the year distinguishes remakes. */
export const REVIEWS = [
  {
    author: ada,
    title: "The Shawshank Redemption",
    year: 1994,
    stars: 5,
    text: "Two hours of patience, and every minute of it is paid back on a beach.",
  },
  {
    author: grace,
    title: "The Shawshank Redemption",
    year: 1994,
    stars: 4,
    text: "Moving, although the narrator tells me what I have just seen a little too often.",
  },
  {
    author: ada,
    title: "12 Angry Men",
    year: 1957,
    stars: 5,
    text: "One room, no action, and I did not look at the clock once. The camera creeps closer as the tempers rise.",
  },
  {
    author: grace,
    title: "Pulp Fiction",
    year: 1994,
    stars: 5,
    text: "The order of the scenes is the joke. It still works when you know the punchline.",
  },
  {
    author: ada,
    title: "Casablanca",
    year: 1941,
    stars: 4,
    text: "Half of it is quotations by now. Claude Rains gets the best of them.",
  },
  {
    author: grace,
    title: "Das Leben der Anderen",
    year: 2007,
    stars: 5,
    text: "A man puts on headphones and slowly becomes somebody else. Ulrich Mühe hardly moves his face to show it.",
  },
  {
    author: ada,
    title: "Groundhog Day",
    year: 1993,
    stars: 5,
    text: "A comedy that never explains its trick, and is right not to.",
  },
  {
    author: grace,
    title: "Gigli",
    year: 2003,
    stars: 1,
    text: "I wanted it to be better than its reputation. It is exactly its reputation.",
  },
] as const;
